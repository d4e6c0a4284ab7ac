; Changing flat tyres: a boot full of tools, a jack, nuts; negative preconditions on the boot and the hub.
(define (domain tyre)
  (:requirements :strips :typing :negative-preconditions)
  (:types item hub - object tool wheel nuts - item)
  (:constants wrench jack pump - tool)
  (:predicates
    (open) (in-boot ?x - item) (have ?x - item) (tight ?n - nuts ?h - hub) (loose ?n - nuts ?h - hub)
    (raised ?h - hub) (bare ?h - hub) (unfastened ?h - hub) (on ?w - wheel ?h - hub) (sound ?w - wheel)
    (inflated ?w - wheel))
  (:action open-boot :parameters () :precondition (not (open)) :effect (open))
  (:action close-boot :parameters () :precondition (open) :effect (not (open)))
  (:action fetch
    :parameters (?x - item)
    :precondition (and (in-boot ?x) (open))
    :effect (and (have ?x) (not (in-boot ?x))))
  (:action put-away
    :parameters (?x - item)
    :precondition (and (have ?x) (open))
    :effect (and (in-boot ?x) (not (have ?x))))
  (:action loosen
    :parameters (?n - nuts ?h - hub)
    :precondition (and (have wrench) (tight ?n ?h) (not (raised ?h)))
    :effect (and (loose ?n ?h) (not (tight ?n ?h))))
  (:action tighten
    :parameters (?n - nuts ?h - hub)
    :precondition (and (have wrench) (loose ?n ?h) (not (raised ?h)))
    :effect (and (tight ?n ?h) (not (loose ?n ?h))))
  (:action jack-up
    :parameters (?h - hub)
    :precondition (and (have jack) (not (raised ?h)))
    :effect (and (raised ?h) (not (have jack))))
  (:action jack-down
    :parameters (?h - hub)
    :precondition (raised ?h)
    :effect (and (have jack) (not (raised ?h))))
  (:action undo
    :parameters (?n - nuts ?h - hub)
    :precondition (and (raised ?h) (not (unfastened ?h)) (have wrench) (loose ?n ?h))
    :effect (and (have ?n) (unfastened ?h) (not (loose ?n ?h))))
  (:action do-up
    :parameters (?n - nuts ?h - hub)
    :precondition (and (raised ?h) (unfastened ?h) (have wrench) (have ?n) (not (bare ?h)))
    :effect (and (loose ?n ?h) (not (unfastened ?h)) (not (have ?n))))
  (:action take-off
    :parameters (?w - wheel ?h - hub)
    :precondition (and (raised ?h) (unfastened ?h) (on ?w ?h))
    :effect (and (have ?w) (bare ?h) (not (on ?w ?h))))
  (:action put-on
    :parameters (?w - wheel ?h - hub)
    :precondition (and (raised ?h) (unfastened ?h) (bare ?h) (have ?w))
    :effect (and (on ?w ?h) (not (bare ?h)) (not (have ?w))))
  (:action inflate
    :parameters (?w - wheel)
    :precondition (and (have pump) (have ?w) (sound ?w) (not (inflated ?w)))
    :effect (inflated ?w)))
