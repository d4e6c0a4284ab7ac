(define (problem lights-01)
  (:domain lights)
  (:objects
    lamp1 lamp2 - lamp
  )
  (:init
    (wired lamp1 lamp2)
  )
  (:goal (and
    (lit lamp1)
    (lit lamp2)
  )))
