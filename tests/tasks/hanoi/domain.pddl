; The towers of Hanoi; untyped, discs and pegs are both things a disc may lie on.
(define (domain hanoi)
  (:requirements :strips)
  (:predicates (smaller ?x ?y) (on ?x ?y) (clear ?x))
  (:action move
    :parameters (?d ?from ?to)
    :precondition (and (smaller ?d ?to) (on ?d ?from) (clear ?d) (clear ?to))
    :effect (and (on ?d ?to) (clear ?from) (not (on ?d ?from)) (not (clear ?to)))))
