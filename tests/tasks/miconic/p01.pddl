(define (problem miconic-01)
  (:domain miconic)
  (:objects
    f1 f2 - floor
    p1 - passenger
  )
  (:init
    (below f1 f2)
    (lift-at f1)
    (origin p1 f1)
    (target p1 f2)
  )
  (:goal (and
    (served p1)
  )))
