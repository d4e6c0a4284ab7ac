; A robot with two hands (constants) carries balls between rooms.
(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball hand)
  (:constants left right - hand)
  (:predicates (robot-in ?r - room) (in ?b - ball ?r - room) (free ?h - hand) (carry ?b - ball ?h - hand))
  (:action move
    :parameters (?from ?to - room)
    :precondition (robot-in ?from)
    :effect (and (robot-in ?to) (not (robot-in ?from))))
  (:action pick
    :parameters (?b - ball ?r - room ?h - hand)
    :precondition (and (in ?b ?r) (robot-in ?r) (free ?h))
    :effect (and (carry ?b ?h) (not (in ?b ?r)) (not (free ?h))))
  (:action drop
    :parameters (?b - ball ?r - room ?h - hand)
    :precondition (and (carry ?b ?h) (robot-in ?r))
    :effect (and (in ?b ?r) (free ?h) (not (carry ?b ?h)))))
