(define (problem npuzzle-01)
  (:domain npuzzle)
  (:objects
    t1 t2 t3 - tile
    c-0-0 c-1-0 c-0-1 c-1-1 - cell
  )
  (:init
    (adjacent c-0-0 c-1-0)
    (adjacent c-0-0 c-0-1)
    (adjacent c-1-0 c-0-0)
    (adjacent c-1-0 c-1-1)
    (adjacent c-0-1 c-1-1)
    (adjacent c-0-1 c-0-0)
    (adjacent c-1-1 c-0-1)
    (adjacent c-1-1 c-1-0)
    (blank c-1-1)
    (at t2 c-0-0)
    (at t1 c-1-0)
    (at t3 c-0-1)
  )
  (:goal (and
    (at t1 c-1-0)
    (at t2 c-0-1)
    (at t3 c-1-1)
  )))
