; Crates are pushed, never pulled; walking is free of cost, a push costs 1.
(define (domain sokoban)
  (:requirements :strips :typing :action-costs)
  (:types cell direction crate)
  (:predicates
    (step ?a ?b - cell ?d - direction) (player-at ?c - cell) (crate-at ?x - crate ?c - cell)
    (empty ?c - cell))
  (:functions (total-cost) - number)
  (:action walk
    :parameters (?a ?b - cell ?d - direction)
    :precondition (and (player-at ?a) (empty ?b) (step ?a ?b ?d))
    :effect (and (player-at ?b) (empty ?a) (not (player-at ?a)) (not (empty ?b)) (increase (total-cost) 0)))
  (:action push
    :parameters (?x - crate ?a ?b ?c - cell ?d - direction)
    :precondition (and (player-at ?a) (crate-at ?x ?b) (empty ?c) (step ?a ?b ?d) (step ?b ?c ?d))
    :effect (and
      (player-at ?b) (crate-at ?x ?c) (empty ?a)
      (not (player-at ?a)) (not (crate-at ?x ?b)) (not (empty ?c)) (increase (total-cost) 1))))
