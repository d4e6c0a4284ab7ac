; Sandwiches are made in the kitchen (a constant) and carried on trays; some children need no gluten.
(define (domain childsnack)
  (:requirements :strips :typing)
  (:types child bread filling sandwich tray place)
  (:constants kitchen - place)
  (:predicates
    (has-bread ?b - bread) (has-filling ?f - filling) (free-bread ?b - bread) (free-filling ?f - filling)
    (unmade ?s - sandwich) (ready ?s - sandwich) (free-sandwich ?s - sandwich) (on-tray ?s - sandwich ?t - tray)
    (tray-at ?t - tray ?p - place) (sits ?c - child ?p - place)
    (allergic ?c - child) (tolerant ?c - child) (fed ?c - child))
  (:action make-free
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and (unmade ?s) (has-bread ?b) (has-filling ?f) (free-bread ?b) (free-filling ?f))
    :effect (and
      (ready ?s) (free-sandwich ?s) (not (unmade ?s)) (not (has-bread ?b)) (not (has-filling ?f))))
  (:action make-any
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and (unmade ?s) (has-bread ?b) (has-filling ?f))
    :effect (and (ready ?s) (not (unmade ?s)) (not (has-bread ?b)) (not (has-filling ?f))))
  (:action put-on-tray
    :parameters (?s - sandwich ?t - tray)
    :precondition (and (ready ?s) (tray-at ?t kitchen))
    :effect (and (on-tray ?s ?t) (not (ready ?s))))
  (:action carry
    :parameters (?t - tray ?p ?q - place)
    :precondition (tray-at ?t ?p)
    :effect (and (tray-at ?t ?q) (not (tray-at ?t ?p))))
  (:action serve-free
    :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and (on-tray ?s ?t) (tray-at ?t ?p) (sits ?c ?p) (allergic ?c) (free-sandwich ?s))
    :effect (and (fed ?c) (not (on-tray ?s ?t))))
  (:action serve-any
    :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and (on-tray ?s ?t) (tray-at ?t ?p) (sits ?c ?p) (tolerant ?c))
    :effect (and (fed ?c) (not (on-tray ?s ?t)))))
