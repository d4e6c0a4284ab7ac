; Only free steps lead to the goal.
(define (problem corner-04)
  (:domain corner)
  (:objects
    a b c - node
  )
  (:init
    (at a)
    (edge a b)
    (= (price a b) 0)
    (edge b c)
    (= (price b c) 0)
    (edge a c)
    (= (price a c) 1)
    (edge c a)
    (= (price c a) 0)
    (= (total-cost) 0)
  )
  (:goal (and
    (at c)
  ))
  (:metric minimize (total-cost)))
