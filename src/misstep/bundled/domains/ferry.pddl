; A ferry takes one car at a time; untyped, with an inequality.
(define (domain ferry)
  (:requirements :strips :equality)
  (:predicates (port ?x) (car ?x) (ferry-at ?p) (car-at ?c ?p) (aboard ?c) (deck-free))
  (:action sail
    :parameters (?from ?to)
    :precondition (and (port ?from) (port ?to) (not (= ?from ?to)) (ferry-at ?from))
    :effect (and (ferry-at ?to) (not (ferry-at ?from))))
  (:action embark
    :parameters (?c ?p)
    :precondition (and (car ?c) (port ?p) (car-at ?c ?p) (ferry-at ?p) (deck-free))
    :effect (and (aboard ?c) (not (car-at ?c ?p)) (not (deck-free))))
  (:action debark
    :parameters (?c ?p)
    :precondition (and (car ?c) (port ?p) (aboard ?c) (ferry-at ?p))
    :effect (and (car-at ?c ?p) (deck-free) (not (aboard ?c)))))
