; People cross a bridge by one torch, two at most; a pair walks at the pace of a function of both.
(define (domain torch)
  (:requirements :strips :typing :equality :action-costs)
  (:types person bank)
  (:constants near far - bank)
  (:predicates (at ?p - person ?b - bank) (torch-at ?b - bank))
  (:functions (alone ?p - person) - number (pair ?p ?q - person) - number (total-cost) - number)
  (:action cross
    :parameters (?p - person ?from ?to - bank)
    :precondition (and (at ?p ?from) (torch-at ?from) (not (= ?from ?to)))
    :effect (and
      (at ?p ?to) (torch-at ?to) (not (at ?p ?from)) (not (torch-at ?from))
      (increase (total-cost) (alone ?p))))
  (:action cross-together
    :parameters (?p ?q - person ?from ?to - bank)
    :precondition (and (at ?p ?from) (at ?q ?from) (torch-at ?from) (not (= ?from ?to)) (not (= ?p ?q)))
    :effect (and
      (at ?p ?to) (at ?q ?to) (torch-at ?to) (not (at ?p ?from)) (not (at ?q ?from))
      (not (torch-at ?from)) (increase (total-cost) (pair ?p ?q)))))
