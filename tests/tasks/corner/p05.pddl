; Unsolvable, though not when nothing is ever deleted: the way costs two coins of three and two must stay.
(define (problem corner-05)
  (:domain corner)
  (:objects
    a b c d - node
    c1 c2 c3 - coin
  )
  (:init
    (at a)
    (edge a b)
    (= (price a b) 1)
    (toll b c)
    (toll c d)
    (toll a c)
    (toll d b)
    (owns c1)
    (owns c2)
    (owns c3)
    (= (total-cost) 0)
  )
  (:goal (and
    (at d)
    (owns c1)
    (owns c2)
  ))
  (:metric minimize (total-cost)))
