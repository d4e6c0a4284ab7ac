(define (problem transport-01)
  (:domain transport)
  (:objects
    town1 town2 town3 - town
    lorry1 - lorry
    crate1 - crate
    l0 l1 l2 - load-level
  )
  (:init
    (one-less l0 l1)
    (one-less l1 l2)
    (road town1 town2)
    (road town2 town1)
    (= (length town1 town2) 16)
    (= (length town2 town1) 16)
    (road town1 town3)
    (road town3 town1)
    (= (length town1 town3) 15)
    (= (length town3 town1) 15)
    (at lorry1 town2)
    (room lorry1 l2)
    (at crate1 town3)
    (= (total-cost) 0)
  )
  (:goal (and
    (at crate1 town2)
  ))
  (:metric minimize (total-cost)))
