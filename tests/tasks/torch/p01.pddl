(define (problem torch-01)
  (:domain torch)
  (:objects
    p1 - person
  )
  (:init
    (torch-at near)
    (at p1 near)
    (= (alone p1) 3)
    (= (total-cost) 0)
  )
  (:goal (and
    (at p1 far)
  ))
  (:metric minimize (total-cost)))
