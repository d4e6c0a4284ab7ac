(define (problem logistics-01)
  (:domain logistics)
  (:objects
    c1 c2 - city
    c1-p1 c2-p1 - airport
    t-c1 t-c2 - truck
    plane1 - plane
    parcel1 - parcel
  )
  (:init
    (part-of c1-p1 c1)
    (part-of c2-p1 c2)
    (at t-c1 c1-p1)
    (at t-c2 c2-p1)
    (at plane1 c2-p1)
    (at parcel1 c1-p1)
  )
  (:goal (and
    (at parcel1 c2-p1)
  )))
