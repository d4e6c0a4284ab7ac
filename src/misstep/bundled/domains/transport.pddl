; Lorries with a capacity drive on roads whose length is the cost.
(define (domain transport)
  (:requirements :strips :typing :action-costs)
  (:types town load-level mobile - object lorry crate - mobile)
  (:predicates
    (road ?a ?b - town) (at ?m - mobile ?t - town) (in ?c - crate ?l - lorry)
    (room ?l - lorry ?n - load-level) (one-less ?m ?n - load-level))
  (:functions (length ?a ?b - town) - number (total-cost) - number)
  (:action drive
    :parameters (?l - lorry ?a ?b - town)
    :precondition (and (at ?l ?a) (road ?a ?b))
    :effect (and (at ?l ?b) (not (at ?l ?a)) (increase (total-cost) (length ?a ?b))))
  (:action load
    :parameters (?c - crate ?l - lorry ?t - town ?m ?n - load-level)
    :precondition (and (at ?l ?t) (at ?c ?t) (room ?l ?n) (one-less ?m ?n))
    :effect (and (in ?c ?l) (room ?l ?m) (not (at ?c ?t)) (not (room ?l ?n)) (increase (total-cost) 1)))
  (:action unload
    :parameters (?c - crate ?l - lorry ?t - town ?m ?n - load-level)
    :precondition (and (at ?l ?t) (in ?c ?l) (room ?l ?m) (one-less ?m ?n))
    :effect (and (at ?c ?t) (room ?l ?n) (not (in ?c ?l)) (not (room ?l ?m)) (increase (total-cost) 1))))
