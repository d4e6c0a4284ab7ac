; Nothing is applicable and the goal holds.
(define (problem corner-03)
  (:domain corner)
  (:objects
    a b c - node
  )
  (:init
    (at a)
    (edge b c)
    (= (price b c) 1)
    (= (total-cost) 0)
  )
  (:goal (and
    (at a)
  ))
  (:metric minimize (total-cost)))
