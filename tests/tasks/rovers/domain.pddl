; Rovers sample soil, take pictures and send the data to a lander that they must see.
(define (domain rovers)
  (:requirements :strips :typing)
  (:types rover point camera lander target)
  (:predicates
    (at ?r - rover ?p - point) (drives ?r - rover ?p ?q - point) (sees ?p ?q - point)
    (lander-at ?l - lander ?p - point) (soil ?p - point) (sampler ?r - rover)
    (empty ?r - rover) (full ?r - rover) (sample ?r - rover ?p - point)
    (mounted ?c - camera ?r - rover) (aims ?c - camera ?t - target) (calibrated ?c - camera)
    (visible ?t - target ?p - point) (picture ?r - rover ?t - target)
    (sent-soil ?p - point) (sent-picture ?t - target))
  (:action drive
    :parameters (?r - rover ?p ?q - point)
    :precondition (and (at ?r ?p) (drives ?r ?p ?q))
    :effect (and (at ?r ?q) (not (at ?r ?p))))
  (:action dig
    :parameters (?r - rover ?p - point)
    :precondition (and (at ?r ?p) (soil ?p) (sampler ?r) (empty ?r))
    :effect (and (sample ?r ?p) (full ?r) (not (empty ?r)) (not (soil ?p))))
  (:action tip
    :parameters (?r - rover)
    :precondition (full ?r)
    :effect (and (empty ?r) (not (full ?r))))
  (:action calibrate
    :parameters (?r - rover ?c - camera ?t - target ?p - point)
    :precondition (and (mounted ?c ?r) (aims ?c ?t) (at ?r ?p) (visible ?t ?p))
    :effect (calibrated ?c))
  (:action shoot
    :parameters (?r - rover ?c - camera ?t - target ?p - point)
    :precondition (and (mounted ?c ?r) (calibrated ?c) (at ?r ?p) (visible ?t ?p))
    :effect (and (picture ?r ?t) (not (calibrated ?c))))
  (:action send-soil
    :parameters (?r - rover ?l - lander ?s ?p ?q - point)
    :precondition (and (sample ?r ?s) (at ?r ?p) (lander-at ?l ?q) (sees ?p ?q))
    :effect (sent-soil ?s))
  (:action send-picture
    :parameters (?r - rover ?l - lander ?t - target ?p ?q - point)
    :precondition (and (picture ?r ?t) (at ?r ?p) (lander-at ?l ?q) (sees ?p ?q))
    :effect (sent-picture ?t)))
