(define (problem visitall-01)
  (:domain visitall)
  (:objects
    c-0-0 c-1-0 c-0-1 c-1-1 - cell
  )
  (:init
    (next-to c-0-0 c-1-0)
    (next-to c-0-0 c-0-1)
    (next-to c-1-0 c-0-0)
    (next-to c-1-0 c-1-1)
    (next-to c-0-1 c-1-1)
    (next-to c-0-1 c-0-0)
    (next-to c-1-1 c-0-1)
    (next-to c-1-1 c-1-0)
    (robot-at c-1-0)
    (visited c-1-0)
  )
  (:goal (and
    (visited c-0-0)
    (visited c-0-1)
    (visited c-1-0)
    (visited c-1-1)
  )))
