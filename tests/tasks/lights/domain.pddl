; Pressing a switch between two lamps toggles both; only negative preconditions, the parity never changes.
(define (domain lights)
  (:requirements :strips :typing :negative-preconditions)
  (:types lamp)
  (:predicates (wired ?a ?b - lamp) (lit ?a - lamp))
  (:action both-on
    :parameters (?a ?b - lamp)
    :precondition (and (wired ?a ?b) (not (lit ?a)) (not (lit ?b)))
    :effect (and (lit ?a) (lit ?b)))
  (:action both-off
    :parameters (?a ?b - lamp)
    :precondition (and (wired ?a ?b) (lit ?a) (lit ?b))
    :effect (and (not (lit ?a)) (not (lit ?b))))
  (:action swap
    :parameters (?a ?b - lamp)
    :precondition (and (wired ?a ?b) (lit ?a) (not (lit ?b)))
    :effect (and (not (lit ?a)) (lit ?b)))
  (:action swap-back
    :parameters (?a ?b - lamp)
    :precondition (and (wired ?a ?b) (not (lit ?a)) (lit ?b))
    :effect (and (lit ?a) (not (lit ?b)))))
