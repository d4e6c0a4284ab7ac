(define (problem hanoi-01)
  (:domain hanoi)
  (:objects
    d1 d2
    peg1 peg2 peg3
  )
  (:init
    (smaller d1 peg1)
    (smaller d1 peg2)
    (smaller d1 peg3)
    (smaller d2 peg1)
    (smaller d2 peg2)
    (smaller d2 peg3)
    (smaller d1 d2)
    (on d1 d2)
    (on d2 peg1)
    (clear d1)
    (clear peg2)
    (clear peg3)
  )
  (:goal (and
    (on d1 d2)
    (on d2 peg3)
  )))
