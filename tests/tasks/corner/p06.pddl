; Large costs.
(define (problem corner-06)
  (:domain corner)
  (:objects
    a b c - node
  )
  (:init
    (at a)
    (edge a b)
    (= (price a b) 400000)
    (edge b c)
    (= (price b c) 400000)
    (edge a c)
    (= (price a c) 1000000)
    (= (total-cost) 0)
  )
  (:goal (and
    (at c)
  ))
  (:metric minimize (total-cost)))
