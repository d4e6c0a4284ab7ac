(define (problem pegsol-01)
  (:domain pegsol)
  (:objects
    h-0-0 h-1-0 h-2-0 - hole
  )
  (:init
    (line h-0-0 h-1-0 h-2-0)
    (line h-2-0 h-1-0 h-0-0)
    (idle)
    (peg h-0-0)
    (peg h-1-0)
    (free h-2-0)
    (= (total-cost) 0)
  )
  (:goal (and
    (idle)
    (free h-0-0)
    (free h-1-0)
    (peg h-2-0)
  ))
  (:metric minimize (total-cost)))
