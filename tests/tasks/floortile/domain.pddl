; Robots paint the tile above or below them and must not step on wet paint; colours cost to change.
(define (domain floortile)
  (:requirements :strips :typing :action-costs)
  (:types robot tile colour)
  (:predicates
    (over ?a ?b - tile) (right-of ?a ?b - tile) (on ?r - robot ?t - tile) (dry ?t - tile)
    (painted ?t - tile ?c - colour) (brush ?r - robot ?c - colour) (stocked ?c - colour))
  (:functions (total-cost) - number)
  (:action change
    :parameters (?r - robot ?c ?d - colour)
    :precondition (and (brush ?r ?c) (stocked ?d))
    :effect (and (brush ?r ?d) (not (brush ?r ?c)) (increase (total-cost) 5)))
  (:action paint-over
    :parameters (?r - robot ?t ?u - tile ?c - colour)
    :precondition (and (brush ?r ?c) (on ?r ?u) (over ?t ?u) (dry ?t))
    :effect (and (painted ?t ?c) (not (dry ?t)) (increase (total-cost) 2)))
  (:action paint-under
    :parameters (?r - robot ?t ?u - tile ?c - colour)
    :precondition (and (brush ?r ?c) (on ?r ?u) (over ?u ?t) (dry ?t))
    :effect (and (painted ?t ?c) (not (dry ?t)) (increase (total-cost) 2)))
  (:action go-up
    :parameters (?r - robot ?a ?b - tile)
    :precondition (and (on ?r ?a) (over ?b ?a) (dry ?b))
    :effect (and (on ?r ?b) (dry ?a) (not (on ?r ?a)) (not (dry ?b)) (increase (total-cost) 3)))
  (:action go-down
    :parameters (?r - robot ?a ?b - tile)
    :precondition (and (on ?r ?a) (over ?a ?b) (dry ?b))
    :effect (and (on ?r ?b) (dry ?a) (not (on ?r ?a)) (not (dry ?b)) (increase (total-cost) 1)))
  (:action go-right
    :parameters (?r - robot ?a ?b - tile)
    :precondition (and (on ?r ?a) (right-of ?b ?a) (dry ?b))
    :effect (and (on ?r ?b) (dry ?a) (not (on ?r ?a)) (not (dry ?b)) (increase (total-cost) 1)))
  (:action go-left
    :parameters (?r - robot ?a ?b - tile)
    :precondition (and (on ?r ?a) (right-of ?a ?b) (dry ?b))
    :effect (and (on ?r ?b) (dry ?a) (not (on ?r ?a)) (not (dry ?b)) (increase (total-cost) 1))))
