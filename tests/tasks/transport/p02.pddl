(define (problem transport-02)
  (:domain transport)
  (:objects
    town1 town2 town3 town4 - town
    lorry1 - lorry
    crate1 crate2 - crate
    l0 l1 l2 - load-level
  )
  (:init
    (one-less l0 l1)
    (one-less l1 l2)
    (road town1 town2)
    (road town2 town1)
    (= (length town1 town2) 20)
    (= (length town2 town1) 20)
    (road town1 town3)
    (road town3 town1)
    (= (length town1 town3) 7)
    (= (length town3 town1) 7)
    (road town1 town4)
    (road town4 town1)
    (= (length town1 town4) 20)
    (= (length town4 town1) 20)
    (road town2 town3)
    (road town3 town2)
    (= (length town2 town3) 2)
    (= (length town3 town2) 2)
    (at lorry1 town2)
    (room lorry1 l2)
    (at crate1 town4)
    (at crate2 town4)
    (= (total-cost) 0)
  )
  (:goal (and
    (at crate1 town3)
    (at crate2 town3)
  ))
  (:metric minimize (total-cost)))
