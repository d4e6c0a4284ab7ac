(define (problem logistics-03)
  (:domain logistics)
  (:objects
    c1 c2 - city
    c1-p1 c2-p1 - airport
    c1-p2 c2-p2 - place
    t-c1 t-c2 - truck
    plane1 - plane
    parcel1 parcel2 - parcel
  )
  (:init
    (part-of c1-p1 c1)
    (part-of c1-p2 c1)
    (part-of c2-p1 c2)
    (part-of c2-p2 c2)
    (at t-c1 c1-p1)
    (at t-c2 c2-p1)
    (at plane1 c2-p1)
    (at parcel1 c2-p2)
    (at parcel2 c1-p1)
  )
  (:goal (and
    (at parcel1 c2-p1)
    (at parcel2 c2-p1)
  )))
