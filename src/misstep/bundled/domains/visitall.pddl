; A robot has to visit cells of a grid that may have holes.
(define (domain visitall)
  (:requirements :strips :typing)
  (:types cell)
  (:predicates (next-to ?a ?b - cell) (robot-at ?c - cell) (visited ?c - cell))
  (:action move
    :parameters (?a ?b - cell)
    :precondition (and (robot-at ?a) (next-to ?a ?b))
    :effect (and (robot-at ?b) (visited ?b) (not (robot-at ?a)))))
