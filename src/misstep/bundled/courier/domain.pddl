; A small domain of misstep's own: vans bring parcels along roads; a longer road costs more.
(define (domain courier)
  (:requirements :strips :typing :action-costs)
  (:types place van parcel - object)
  (:predicates
    (road ?from ?to - place)
    (at ?v - van ?p - place)
    (waiting ?b - parcel ?p - place)
    (aboard ?b - parcel ?v - van)
    (empty ?v - van))
  (:functions
    (distance ?from ?to - place) - number
    (total-cost) - number)

  (:action drive
    :parameters (?v - van ?from ?to - place)
    :precondition (and (at ?v ?from) (road ?from ?to))
    :effect (and (not (at ?v ?from)) (at ?v ?to) (increase (total-cost) (distance ?from ?to))))

  (:action load
    :parameters (?b - parcel ?v - van ?p - place)
    :precondition (and (at ?v ?p) (waiting ?b ?p) (empty ?v))
    :effect (and (not (waiting ?b ?p)) (not (empty ?v)) (aboard ?b ?v) (increase (total-cost) 1)))

  (:action unload
    :parameters (?b - parcel ?v - van ?p - place)
    :precondition (and (at ?v ?p) (aboard ?b ?v))
    :effect (and (not (aboard ?b ?v)) (waiting ?b ?p) (empty ?v) (increase (total-cost) 1))))
