(define (problem lights-03)
  (:domain lights)
  (:objects
    lamp1 lamp2 lamp3 lamp4 lamp5 - lamp
  )
  (:init
    (wired lamp1 lamp2)
    (wired lamp2 lamp3)
    (wired lamp3 lamp4)
    (wired lamp4 lamp5)
    (wired lamp5 lamp1)
    (lit lamp1)
  )
  (:goal (and
    (lit lamp5)
    (not (lit lamp1))
    (not (lit lamp2))
    (not (lit lamp3))
    (not (lit lamp4))
  )))
