; A worker walks a one-way path; every spanner tightens one nut, so a spanner left behind is a dead end.
(define (domain spanner)
  (:requirements :strips :typing)
  (:types spot thing - object worker spanner nut - thing)
  (:predicates
    (at ?x - thing ?s - spot) (path ?a ?b - spot) (has ?w - worker ?s - spanner)
    (usable ?s - spanner) (loose ?n - nut) (tight ?n - nut))
  (:action walk
    :parameters (?w - worker ?a ?b - spot)
    :precondition (and (at ?w ?a) (path ?a ?b))
    :effect (and (at ?w ?b) (not (at ?w ?a))))
  (:action take
    :parameters (?w - worker ?s - spanner ?a - spot)
    :precondition (and (at ?w ?a) (at ?s ?a))
    :effect (and (has ?w ?s) (not (at ?s ?a))))
  (:action tighten
    :parameters (?w - worker ?s - spanner ?n - nut ?a - spot)
    :precondition (and (at ?w ?a) (at ?n ?a) (has ?w ?s) (usable ?s) (loose ?n))
    :effect (and (tight ?n) (not (loose ?n)) (not (usable ?s)))))
