(define (problem blocks-02)
  (:domain blocks)
  (:objects
    b1 b2 b3 b4
  )
  (:init
    (on-table b4)
    (on-table b1)
    (on-table b3)
    (on-table b2)
    (clear b4)
    (clear b1)
    (clear b3)
    (clear b2)
    (hand-empty)
  )
  (:goal (and
    (on b3 b2)
    (on b1 b4)
  )))
