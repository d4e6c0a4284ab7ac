; One lift of unlimited size serves passengers; boarding is never undone.
(define (domain miconic)
  (:requirements :strips :typing)
  (:types floor passenger)
  (:predicates
    (below ?f ?g - floor) (lift-at ?f - floor)
    (origin ?p - passenger ?f - floor) (target ?p - passenger ?f - floor)
    (riding ?p - passenger) (served ?p - passenger))
  (:action up
    :parameters (?f ?g - floor)
    :precondition (and (lift-at ?f) (below ?f ?g))
    :effect (and (lift-at ?g) (not (lift-at ?f))))
  (:action down
    :parameters (?f ?g - floor)
    :precondition (and (lift-at ?f) (below ?g ?f))
    :effect (and (lift-at ?g) (not (lift-at ?f))))
  (:action board
    :parameters (?f - floor ?p - passenger)
    :precondition (and (lift-at ?f) (origin ?p ?f))
    :effect (riding ?p))
  (:action leave
    :parameters (?f - floor ?p - passenger)
    :precondition (and (lift-at ?f) (target ?p ?f) (riding ?p))
    :effect (and (served ?p) (not (riding ?p)))))
