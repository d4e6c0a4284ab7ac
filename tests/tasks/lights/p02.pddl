(define (problem lights-02)
  (:domain lights)
  (:objects
    lamp1 lamp2 lamp3 lamp4 - lamp
  )
  (:init
    (wired lamp1 lamp2)
    (wired lamp2 lamp3)
    (wired lamp3 lamp4)
    (lit lamp1)
    (lit lamp4)
  )
  (:goal (and
    (not (lit lamp1))
    (not (lit lamp2))
    (not (lit lamp3))
    (not (lit lamp4))
  )))
