(define (problem courier-1)
  (:domain courier)
  (:objects
    depot market harbour mill - place
    red blue - van
    book lamp vase - parcel)
  (:init
    (road depot market) (road market depot)
    (road market harbour) (road harbour market)
    (road depot mill) (road mill depot)
    (road mill harbour) (road harbour mill)
    (= (distance depot market) 2) (= (distance market depot) 2)
    (= (distance market harbour) 3) (= (distance harbour market) 3)
    (= (distance depot mill) 4) (= (distance mill depot) 4)
    (= (distance mill harbour) 1) (= (distance harbour mill) 1)
    (= (total-cost) 0)
    (at red depot) (empty red)
    (at blue harbour) (empty blue)
    (waiting book depot) (waiting lamp mill) (waiting vase market))
  (:goal (and (waiting book harbour) (waiting lamp depot) (waiting vase mill)))
  (:metric minimize (total-cost)))
