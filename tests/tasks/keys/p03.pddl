(define (problem keys-03)
  (:domain keys)
  (:objects
    hall attic shed cellar vault - place
    k1 k2 - key
    round square - shape
  )
  (:init
    (here shed)
    (path hall attic)
    (path attic hall)
    (path attic shed)
    (path shed attic)
    (path hall cellar)
    (path cellar hall)
    (path cellar vault)
    (path vault cellar)
    (lies k1 attic)
    (fits k1 round)
    (lies k2 cellar)
    (fits k2 square)
    (lock cellar round)
    (shut cellar)
    (lock vault square)
    (shut vault)
  )
  (:goal (and
    (here vault)
  )))
