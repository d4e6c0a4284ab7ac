(define (problem logistics-generated)
  (:domain logistics)
  (:objects
    c1 c2 c3 c4 - city
    c1-p1 c2-p1 c3-p1 c4-p1 - airport
    c1-p2 c2-p2 c3-p2 c4-p2 - place
    t-c1 t-c2 t-c3 t-c4 - truck
    plane1 - plane
    parcel1 parcel2 parcel3 parcel4 parcel5 parcel6 parcel7 - parcel
  )
  (:init
    (part-of c1-p1 c1)
    (part-of c1-p2 c1)
    (part-of c2-p1 c2)
    (part-of c2-p2 c2)
    (part-of c3-p1 c3)
    (part-of c3-p2 c3)
    (part-of c4-p1 c4)
    (part-of c4-p2 c4)
    (at t-c1 c1-p2)
    (at t-c2 c2-p2)
    (at t-c3 c3-p1)
    (at t-c4 c4-p2)
    (at plane1 c4-p1)
    (at parcel1 c4-p1)
    (at parcel2 c3-p1)
    (at parcel3 c3-p2)
    (at parcel4 c2-p2)
    (at parcel5 c2-p1)
    (at parcel6 c2-p1)
    (at parcel7 c1-p2)
  )
  (:goal (and
    (at parcel1 c4-p2)
    (at parcel2 c2-p2)
    (at parcel3 c3-p1)
    (at parcel4 c3-p1)
    (at parcel5 c4-p2)
    (at parcel6 c4-p1)
    (at parcel7 c3-p1)
  )))
