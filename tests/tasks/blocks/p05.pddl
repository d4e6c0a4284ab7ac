(define (problem blocks-05)
  (:domain blocks)
  (:objects
    b1 b2 b3 b4 b5 b6
  )
  (:init
    (on-table b5)
    (on b1 b5)
    (on b3 b1)
    (on-table b6)
    (on b2 b6)
    (on b4 b3)
    (clear b4)
    (clear b2)
    (hand-empty)
  )
  (:goal (and
    (on b1 b2)
    (on b4 b1)
    (on b6 b4)
    (on b3 b6)
  )))
