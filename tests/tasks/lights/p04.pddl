(define (problem lights-04)
  (:domain lights)
  (:objects
    lamp1 lamp2 lamp3 lamp4 lamp5 lamp6 - lamp
  )
  (:init
    (wired lamp1 lamp2)
    (wired lamp2 lamp3)
    (wired lamp3 lamp4)
    (wired lamp4 lamp5)
    (wired lamp5 lamp6)
    (lit lamp1)
    (lit lamp2)
    (lit lamp5)
    (lit lamp6)
  )
  (:goal (and
    (lit lamp1)
    (lit lamp3)
    (lit lamp4)
    (lit lamp6)
    (not (lit lamp2))
    (not (lit lamp5))
  )))
