(define (problem elevators-01)
  (:domain elevators)
  (:objects
    f0 f1 f2 - floor
    p1 - person
    n0 n1 n2 n3 - seats
    fast1 - fast
    slow1 - slow
  )
  (:init
    (above f1 f0)
    (above f2 f0)
    (above f2 f1)
    (= (slow-cost f0 f1) 6)
    (= (fast-cost f0 f1) 4)
    (= (slow-cost f0 f2) 7)
    (= (fast-cost f0 f2) 7)
    (= (slow-cost f1 f2) 6)
    (= (fast-cost f1 f2) 4)
    (after n0 n1)
    (after n1 n2)
    (after n2 n3)
    (stops fast1 f0)
    (stops fast1 f2)
    (limit fast1 n1)
    (limit fast1 n2)
    (limit fast1 n3)
    (lift-at fast1 f0)
    (taken fast1 n0)
    (stops slow1 f0)
    (stops slow1 f1)
    (stops slow1 f2)
    (limit slow1 n1)
    (limit slow1 n2)
    (lift-at slow1 f2)
    (taken slow1 n0)
    (waits p1 f0)
    (= (total-cost) 0)
  )
  (:goal (and
    (waits p1 f1)
  ))
  (:metric minimize (total-cost)))
