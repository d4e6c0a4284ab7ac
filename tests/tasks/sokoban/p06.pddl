; Unsolvable: the crate stands in a corner.
(define (problem sokoban-06)
  (:domain sokoban)
  (:objects
    c-1-1 c-2-1 c-3-1 c-1-2 c-2-2 c-3-2 - cell
    right left down up - direction
    x1 - crate
  )
  (:init
    (step c-1-1 c-2-1 right)
    (step c-1-1 c-1-2 down)
    (step c-2-1 c-3-1 right)
    (step c-2-1 c-1-1 left)
    (step c-2-1 c-2-2 down)
    (step c-3-1 c-2-1 left)
    (step c-3-1 c-3-2 down)
    (step c-1-2 c-2-2 right)
    (step c-1-2 c-1-1 up)
    (step c-2-2 c-3-2 right)
    (step c-2-2 c-1-2 left)
    (step c-2-2 c-2-1 up)
    (step c-3-2 c-2-2 left)
    (step c-3-2 c-3-1 up)
    (crate-at x1 c-1-1)
    (player-at c-3-1)
    (empty c-2-1)
    (empty c-1-2)
    (empty c-2-2)
    (empty c-3-2)
    (= (total-cost) 0)
  )
  (:goal (and
    (crate-at x1 c-3-2)
  ))
  (:metric minimize (total-cost)))
