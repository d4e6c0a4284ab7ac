; The goal holds in the initial state.
(define (problem corner-01)
  (:domain corner)
  (:objects
    a b - node
  )
  (:init
    (at a)
    (edge a b)
    (= (price a b) 3)
    (edge b a)
    (= (price b a) 2)
    (= (total-cost) 0)
  )
  (:goal (and
    (at a)
  ))
  (:metric minimize (total-cost)))
