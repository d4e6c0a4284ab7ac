(define (problem blocks-generated)
  (:domain blocks)
  (:objects
    b1 b2 b3 b4 b5 b6 b7
  )
  (:init
    (on-table b3)
    (on-table b5)
    (on b6 b5)
    (on b1 b3)
    (on b2 b6)
    (on b4 b2)
    (on b7 b4)
    (clear b1)
    (clear b7)
    (hand-empty)
  )
  (:goal (and
    (on b6 b3)
    (on b7 b2)
    (on b1 b6)
    (on b4 b1)
  )))
