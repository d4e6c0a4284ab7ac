(define (problem corner-07)
  (:domain corner)
  (:objects
    a b c d - node
    c1 - coin
  )
  (:init
    (at a)
    (edge a b)
    (= (price a b) 2)
    (edge b c)
    (= (price b c) 2)
    (edge c d)
    (= (price c d) 2)
    (toll a c)
    (toll b d)
    (owns c1)
    (= (total-cost) 0)
  )
  (:goal (and
    (at d)
  ))
  (:metric minimize (total-cost)))
