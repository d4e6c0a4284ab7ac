; Unsolvable: one spanner short.
(define (problem spanner-05)
  (:domain spanner)
  (:objects
    shed spot1 spot2 spot3 gate - spot
    bob - worker
    spanner1 spanner2 - spanner
    nut1 nut2 nut3 - nut
  )
  (:init
    (path shed spot1)
    (path spot1 spot2)
    (path spot2 spot3)
    (path spot3 gate)
    (at bob shed)
    (at spanner1 spot3)
    (usable spanner1)
    (at spanner2 spot2)
    (usable spanner2)
    (at nut1 gate)
    (loose nut1)
    (at nut2 gate)
    (loose nut2)
    (at nut3 gate)
    (loose nut3)
  )
  (:goal (and
    (tight nut1)
    (tight nut2)
    (tight nut3)
  )))
