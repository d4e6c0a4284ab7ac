(define (problem blocks-03)
  (:domain blocks)
  (:objects
    b1 b2 b3 b4 b5
  )
  (:init
    (on-table b4)
    (on b2 b4)
    (on-table b1)
    (on-table b5)
    (on b3 b2)
    (clear b3)
    (clear b1)
    (clear b5)
    (hand-empty)
  )
  (:goal (and
    (on b3 b4)
    (on b2 b3)
  )))
