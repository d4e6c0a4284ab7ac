; Fast and slow lifts with a capacity; moving costs, getting in and out is free (no increase at all).
(define (domain elevators)
  (:requirements :strips :typing :action-costs)
  (:types floor person seats lift - object fast slow - lift)
  (:predicates
    (above ?f ?g - floor) (lift-at ?l - lift ?f - floor) (stops ?l - lift ?f - floor)
    (waits ?p - person ?f - floor) (rides ?p - person ?l - lift)
    (taken ?l - lift ?n - seats) (limit ?l - lift ?n - seats) (after ?m ?n - seats))
  (:functions (total-cost) - number (slow-cost ?f ?g - floor) - number (fast-cost ?f ?g - floor) - number)
  (:action slow-up
    :parameters (?l - slow ?f ?g - floor)
    :precondition (and (lift-at ?l ?f) (above ?g ?f) (stops ?l ?g))
    :effect (and (lift-at ?l ?g) (not (lift-at ?l ?f)) (increase (total-cost) (slow-cost ?f ?g))))
  (:action slow-down
    :parameters (?l - slow ?f ?g - floor)
    :precondition (and (lift-at ?l ?f) (above ?f ?g) (stops ?l ?g))
    :effect (and (lift-at ?l ?g) (not (lift-at ?l ?f)) (increase (total-cost) (slow-cost ?g ?f))))
  (:action fast-up
    :parameters (?l - fast ?f ?g - floor)
    :precondition (and (lift-at ?l ?f) (above ?g ?f) (stops ?l ?g))
    :effect (and (lift-at ?l ?g) (not (lift-at ?l ?f)) (increase (total-cost) (fast-cost ?f ?g))))
  (:action fast-down
    :parameters (?l - fast ?f ?g - floor)
    :precondition (and (lift-at ?l ?f) (above ?f ?g) (stops ?l ?g))
    :effect (and (lift-at ?l ?g) (not (lift-at ?l ?f)) (increase (total-cost) (fast-cost ?g ?f))))
  (:action enter
    :parameters (?p - person ?l - lift ?f - floor ?m ?n - seats)
    :precondition (and (lift-at ?l ?f) (waits ?p ?f) (taken ?l ?m) (after ?m ?n) (limit ?l ?n))
    :effect (and (rides ?p ?l) (taken ?l ?n) (not (waits ?p ?f)) (not (taken ?l ?m))))
  (:action exit
    :parameters (?p - person ?l - lift ?f - floor ?m ?n - seats)
    :precondition (and (lift-at ?l ?f) (rides ?p ?l) (taken ?l ?n) (after ?m ?n))
    :effect (and (waits ?p ?f) (taken ?l ?m) (not (rides ?p ?l)) (not (taken ?l ?n)))))
