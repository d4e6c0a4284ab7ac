; A one-way walk with a purse: small enough for the odd cases (nothing applicable, goal true at once, no plan).
(define (domain corner)
  (:requirements :strips :typing :action-costs)
  (:types node coin)
  (:predicates (edge ?a ?b - node) (at ?n - node) (toll ?a ?b - node) (owns ?c - coin) (spent ?c - coin))
  (:functions (total-cost) - number (price ?a ?b - node) - number)
  (:action step
    :parameters (?a ?b - node)
    :precondition (and (at ?a) (edge ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (price ?a ?b))))
  (:action pay
    :parameters (?a ?b - node ?c - coin)
    :precondition (and (at ?a) (toll ?a ?b) (owns ?c))
    :effect (and (at ?b) (spent ?c) (not (at ?a)) (not (owns ?c)) (increase (total-cost) 0))))
