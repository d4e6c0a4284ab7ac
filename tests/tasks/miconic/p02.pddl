(define (problem miconic-02)
  (:domain miconic)
  (:objects
    f1 f2 f3 f4 - floor
    p1 p2 - passenger
  )
  (:init
    (below f1 f2)
    (below f1 f3)
    (below f1 f4)
    (below f2 f3)
    (below f2 f4)
    (below f3 f4)
    (lift-at f1)
    (origin p1 f1)
    (target p1 f4)
    (origin p2 f3)
    (target p2 f1)
  )
  (:goal (and
    (served p1)
    (served p2)
  )))
