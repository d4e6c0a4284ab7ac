; Sliding tiles with one blank.
(define (domain npuzzle)
  (:requirements :strips :typing)
  (:types tile cell)
  (:predicates (adjacent ?a ?b - cell) (at ?t - tile ?c - cell) (blank ?c - cell))
  (:action slide
    :parameters (?t - tile ?a ?b - cell)
    :precondition (and (at ?t ?a) (blank ?b) (adjacent ?a ?b))
    :effect (and (at ?t ?b) (blank ?a) (not (at ?t ?a)) (not (blank ?b)))))
