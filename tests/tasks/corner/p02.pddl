; Nothing is applicable and the goal is not reached.
(define (problem corner-02)
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
    (at c)
  ))
  (:metric minimize (total-cost)))
