(define (problem blocks-01)
  (:domain blocks)
  (:objects
    b1 b2 b3
  )
  (:init
    (on-table b1)
    (on b3 b1)
    (on b2 b3)
    (clear b2)
    (hand-empty)
  )
  (:goal (and
    (on b3 b2)
  )))
