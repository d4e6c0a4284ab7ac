(define (problem sokoban-01)
  (:domain sokoban)
  (:objects
    c-1-1 c-2-1 c-3-1 - cell
    right left down up - direction
    x1 - crate
  )
  (:init
    (step c-1-1 c-2-1 right)
    (step c-2-1 c-3-1 right)
    (step c-2-1 c-1-1 left)
    (step c-3-1 c-2-1 left)
    (crate-at x1 c-2-1)
    (player-at c-1-1)
    (empty c-3-1)
    (= (total-cost) 0)
  )
  (:goal (and
    (crate-at x1 c-3-1)
  ))
  (:metric minimize (total-cost)))
