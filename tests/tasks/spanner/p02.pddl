(define (problem spanner-02)
  (:domain spanner)
  (:objects
    shed spot1 spot2 gate - spot
    bob - worker
    spanner1 spanner2 - spanner
    nut1 - nut
  )
  (:init
    (path shed spot1)
    (path spot1 spot2)
    (path spot2 gate)
    (at bob shed)
    (at spanner1 spot1)
    (usable spanner1)
    (at spanner2 spot1)
    (usable spanner2)
    (at nut1 gate)
    (loose nut1)
  )
  (:goal (and
    (tight nut1)
  )))
