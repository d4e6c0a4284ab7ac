; Peg solitaire: starting a series of jumps with a peg costs 1, going on with it is free.
(define (domain pegsol)
  (:requirements :strips :typing :action-costs)
  (:types hole)
  (:predicates (line ?a ?b ?c - hole) (peg ?h - hole) (free ?h - hole) (moving ?h - hole) (idle))
  (:functions (total-cost) - number)
  (:action begin
    :parameters (?a ?b ?c - hole)
    :precondition (and (idle) (line ?a ?b ?c) (peg ?a) (peg ?b) (free ?c))
    :effect (and
      (not (idle)) (moving ?c) (peg ?c) (free ?a) (free ?b)
      (not (peg ?a)) (not (peg ?b)) (not (free ?c)) (increase (total-cost) 1)))
  (:action go-on
    :parameters (?a ?b ?c - hole)
    :precondition (and (moving ?a) (line ?a ?b ?c) (peg ?a) (peg ?b) (free ?c))
    :effect (and
      (moving ?c) (peg ?c) (free ?a) (free ?b) (not (moving ?a))
      (not (peg ?a)) (not (peg ?b)) (not (free ?c)) (increase (total-cost) 0)))
  (:action finish
    :parameters (?a - hole)
    :precondition (moving ?a)
    :effect (and (idle) (not (moving ?a)) (increase (total-cost) 0))))
