(define (problem blocks-04)
  (:domain blocks)
  (:objects
    b1 b2 b3 b4 b5 b6
  )
  (:init
    (on-table b6)
    (on b2 b6)
    (on b4 b2)
    (on-table b1)
    (on b3 b4)
    (on b5 b3)
    (clear b5)
    (clear b1)
    (hand-empty)
  )
  (:goal (and
    (on b6 b4)
    (on b5 b6)
    (on b1 b5)
    (on b3 b1)
  )))
