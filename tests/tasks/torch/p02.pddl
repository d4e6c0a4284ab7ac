(define (problem torch-02)
  (:domain torch)
  (:objects
    p1 p2 - person
  )
  (:init
    (torch-at near)
    (at p1 near)
    (at p2 near)
    (= (alone p1) 1)
    (= (alone p2) 4)
    (= (pair p1 p2) 4)
    (= (pair p2 p1) 4)
    (= (total-cost) 0)
  )
  (:goal (and
    (at p1 far)
    (at p2 far)
  ))
  (:metric minimize (total-cost)))
